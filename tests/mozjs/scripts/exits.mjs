// SPDX-License-Identifier: MIT
import System from 'system';
await Promise.resolve();
System.exit(47);
