// SPDX-License-Identifier: MIT
// What a script can see of its command line.
const System = imports.system;
print(JSON.stringify(ARGV));
print(System.programInvocationName, System.programPath);
print(JSON.stringify(System.programArgs));
print(JSON.stringify(imports.searchPath));
