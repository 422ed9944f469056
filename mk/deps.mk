# Debian packages. `make deps` installs what is missing, as root or through sudo.
PACKAGES := gcc make pkg-config libevent-dev liblmdb-dev libmsgpack-dev libmbedtls-dev libcriterion-dev \
	libhttp-parser-dev libyajl-dev libxxhash-dev zlib1g-dev

deps:
	@missing=$$(for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		sudo=; [ $$(id -u) = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq $$missing >/dev/null; \
	fi
