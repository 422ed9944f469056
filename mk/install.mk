# make install: programs, library, header, pkg-config file and man pages under $(DESTDIR)$(PREFIX).
INSTALL ?= install
SONAME  := libdynax.so.0
D = $(DESTDIR)$(PREFIX)
with-paths = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|'

# The static library as installed: one object whose only global names are dynax_*, as in the shared one.
$(B)/install/libdynax.a: $(call obj,$(CLIENT_SRC) $(PROTOCOL_SRC))
	@mkdir -p $(@D) && rm -f $@
	$(CC) -r -nostdlib -o $(@D)/dynax.o $^
	objcopy --wildcard --keep-global-symbol='dynax_*' $(@D)/dynax.o
	ar rcs $@ $(@D)/dynax.o

.PHONY: install uninstall
install: all $(B)/install/libdynax.a
	$(INSTALL) -d $(D)/bin $(D)/sbin $(D)/lib/pkgconfig $(D)/include $(addprefix $(D)/share/man/man,1 3 8)
	$(INSTALL) $(B)/dynax $(D)/bin/
	$(INSTALL) $(B)/dynaxd $(D)/sbin/
	$(INSTALL) -m 644 $(B)/install/libdynax.a $(D)/lib/
	$(INSTALL) -m 644 $(B)/libdynax.so $(D)/lib/libdynax.so.$(VERSION)
	ln -sf libdynax.so.$(VERSION) $(D)/lib/$(SONAME)
	ln -sf $(SONAME) $(D)/lib/libdynax.so
	$(INSTALL) -m 644 protocol/client/dynax.h $(D)/include/
	$(with-paths) protocol/client/dynax.pc.in >$(D)/lib/pkgconfig/dynax.pc
	$(with-paths) docs/man/dynax.1 >$(D)/share/man/man1/dynax.1
	$(with-paths) docs/man/libdynax.3 >$(D)/share/man/man3/libdynax.3
	$(with-paths) docs/man/dynaxd.8 >$(D)/share/man/man8/dynaxd.8
	@[ -n "$(DESTDIR)" ] || [ ! -w /etc/ld.so.cache ] || ldconfig

uninstall:
	rm -f $(D)/bin/dynax $(D)/sbin/dynaxd $(D)/lib/libdynax.* $(D)/include/dynax.h $(D)/lib/pkgconfig/dynax.pc \
		$(D)/share/man/man1/dynax.1 $(D)/share/man/man3/libdynax.3 $(D)/share/man/man8/dynaxd.8
