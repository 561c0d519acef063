// SPDX-License-Identifier: MIT
import 'gi://Gio?version=2.0';
import 'gi://Gio?version=75.94';
