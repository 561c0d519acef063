// SPDX-License-Identifier: MIT
import 'gi://GLib';
await Promise.resolve();
throw new Error('from a module');
