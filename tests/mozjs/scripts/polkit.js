// SPDX-License-Identifier: MIT
// Stands in for the policy daemon, on a bus of the test: everybody may profile.
const {Gio, GLib} = imports.gi;
const xml = `<node><interface name="org.freedesktop.PolicyKit1.Authority">
<method name="CheckAuthorization">
    <arg type="(sa{sv})" direction="in"/><arg type="s" direction="in"/>
    <arg type="a{ss}" direction="in"/><arg type="u" direction="in"/>
    <arg type="s" direction="in"/><arg type="(bba{ss})" direction="out"/>
</method>
<property name="BackendName" type="s" access="read"/>
<property name="BackendVersion" type="s" access="read"/>
<property name="BackendFeatures" type="u" access="read"/>
</interface></node>`;
class Authority {
    get BackendName() { return 'test'; }
    get BackendVersion() { return '1'; }
    get BackendFeatures() { return 0; }
    CheckAuthorization() { return [true, false, {}]; }
}
const object = Gio.DBusExportedObject.wrapJSObject(xml, new Authority());
Gio.bus_own_name(Gio.BusType.SESSION, 'org.freedesktop.PolicyKit1', 0,
    bus => object.export(bus, '/org/freedesktop/PolicyKit1/Authority'),
    () => print('ready'), () => imports.system.exit(1));
new GLib.MainLoop(null, false).run();
