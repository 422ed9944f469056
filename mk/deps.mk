# What dynax needs from Debian. `make deps` and `make deps-test` install what is missing, as root or through sudo.

PACKAGES := gcc libc6-dev make pkg-config libevent-dev liblmdb-dev libmsgpack-dev libmbedtls-dev libhttp-parser-dev libyajl-dev \
	libxxhash-dev zlib1g-dev libdeflate-dev liburing-dev
TEST_PACKAGES := $(PACKAGES) libcriterion-dev libgmp-dev clang libclang-rt-14-dev python3 python3-boto3 python3-pytest \
	awscli curl

define install-packages
	@missing=$$(for p in $(1); do \
		[ "$$(dpkg-query -W -f '$${db:Status-Abbrev}' $$p 2>/dev/null | cut -c1-2)" = ii ] || echo $$p; done); \
	[ -z "$$missing" ] && exit 0; \
	sudo=; [ $$(id -u) = 0 ] || sudo=sudo; \
	echo "installing" $$missing; \
	$$sudo apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null
endef

.PHONY: deps deps-test
deps:
	$(call install-packages,$(PACKAGES))

# The JavaScript SDK's tests take any node from 18 on; Debian's is installed only where there is none.
deps-test:
	$(call install-packages,$(TEST_PACKAGES) $(if $(shell command -v npm),,nodejs npm))
