# make install: programs, library, header, pkg-config file, man pages and systemd unit under $(DESTDIR)$(PREFIX).
# Distributions set LIBDIR, and UNITDIR if units are not found under PREFIX.
INSTALL ?= install
SONAME  := libdynax.so.0
BINDIR  ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR  ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
with-paths = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	-e 's|@SBINDIR@|$(SBINDIR)|' -e 's|@VERSION@|$(VERSION)|'

# The static library as installed: one object whose only global names are dynax_*, as in the shared one.
$(B)/install/libdynax.a: $(call obj,$(CLIENT_SRC) $(PROTOCOL_SRC))
	@mkdir -p $(@D) && rm -f $@
	$(call say,AR)
	$(Q)$(CC) -r -nostdlib -o $(@D)/dynax.o $^
	$(Q)objcopy --wildcard --keep-global-symbol='dynax_*' $(@D)/dynax.o
	$(Q)ar rcs $@ $(@D)/dynax.o

MAN := dynax.1 libdynax.3 dynaxd.8
man-file = $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))/$(1)
D_LIB := $(DESTDIR)$(LIBDIR)

.PHONY: install uninstall
install: all $(B)/install/libdynax.a
	$(Q)$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(SBINDIR) $(D_LIB)/pkgconfig $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(UNITDIR) \
		$(sort $(dir $(foreach m,$(MAN),$(call man-file,$(m)))))
	$(Q)$(INSTALL) $(B)/dynax $(DESTDIR)$(BINDIR)/
	$(Q)$(INSTALL) $(B)/dynaxd $(DESTDIR)$(SBINDIR)/
	$(Q)$(INSTALL) -m 644 $(B)/install/libdynax.a $(D_LIB)/
	$(Q)$(INSTALL) -m 644 $(B)/libdynax.so $(D_LIB)/libdynax.so.$(VERSION)
	$(Q)ln -sf libdynax.so.$(VERSION) $(D_LIB)/$(SONAME)
	$(Q)ln -sf $(SONAME) $(D_LIB)/libdynax.so
	$(Q)$(INSTALL) -m 644 protocol/client/dynax.h $(DESTDIR)$(INCLUDEDIR)/
	$(Q)$(with-paths) protocol/client/dynax.pc.in >$(D_LIB)/pkgconfig/dynax.pc
	$(Q)$(foreach m,$(MAN),$(INSTALL) -m 644 docs/man/$(m) $(call man-file,$(m)) &&) :
	$(Q)$(with-paths) docs/dynaxd.service >$(DESTDIR)$(UNITDIR)/dynaxd.service
	@[ -n "$(DESTDIR)" ] || [ ! -w /etc/ld.so.cache ] || ldconfig
	@echo "installed under $(DESTDIR)$(PREFIX)"

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/dynax $(DESTDIR)$(SBINDIR)/dynaxd $(DESTDIR)$(INCLUDEDIR)/dynax.h $(DESTDIR)$(UNITDIR)/dynaxd.service \
		$(D_LIB)/libdynax.a $(D_LIB)/libdynax.so $(D_LIB)/$(SONAME) $(D_LIB)/libdynax.so.$(VERSION) $(D_LIB)/pkgconfig/dynax.pc \
		$(foreach m,$(MAN),$(call man-file,$(m)))
