// SPDX-License-Identifier: MIT
import {nothing} from './nowhere.mjs';
nothing();
