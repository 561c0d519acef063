// SPDX-License-Identifier: MIT
import System from 'system';
print(JSON.stringify(System.programArgs));
print(System.programInvocationName, System.programPath, import.meta.url.split('/').pop());
