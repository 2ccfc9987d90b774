/** `node --import gw/register --test`: tests of modules that have no `gw` in their `node_modules` import it by its names. */
import { registerResolveHook } from './resolve-hook.ts';

registerResolveHook();
