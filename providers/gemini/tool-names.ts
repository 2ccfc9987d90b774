import { createHash } from 'node:crypto';
import type { ChatRequest } from 'gw/contract';
import { isFields } from 'gw/common-wire';

/** What the vendor takes. Source: ai.google.dev, API reference, "FunctionDeclaration", 2026-11-27. */
const FITS = /^[A-Za-z_][\w.:-]{0,63}$/;
const MOST = 64;
const KEPT = 55;

/** Names of functions at the vendor, and back. */
export interface ToolNames {
  toVendor(name: string): string;
  toOwn(name: string): string;
}

const AS_THEY_ARE: ToolNames = { toVendor: (name) => name, toOwn: (name) => name };

/** The names that a request speaks of, in forms that the vendor takes: the same for the same names, and no two are one. */
export function toolNames(request: ChatRequest): ToolNames {
  const names = new Set(namesIn(request));
  if ([...names].every((name) => FITS.test(name))) return AS_THEY_ARE;
  const vendors = new Map<string, string>();
  const own = new Map<string, string>();
  for (const [plain, alike] of Map.groupBy(names, fitting))
    for (const name of alike) {
      if (name === plain || name === '') continue;
      const vendor = alike.length > 1 ? marked(plain, name) : plain;
      vendors.set(name, vendor);
      own.set(vendor, name);
    }
  return { toVendor: (name) => vendors.get(name) ?? name, toOwn: (name) => own.get(name) ?? name };
}

function* namesIn({ tools, tool_choice: choice, messages }: ChatRequest): Generator<string> {
  for (const { function: declared } of tools ?? []) if (typeof declared?.name === 'string') yield declared.name;
  const chosen = isFields(choice) && isFields(choice['function']) ? choice['function']['name'] : undefined;
  if (typeof chosen === 'string') yield chosen;
  for (const { role, name, tool_calls: calls } of messages) {
    if (role === 'tool' && typeof name === 'string') yield name;
    for (const { function: called } of calls ?? []) if (typeof called?.name === 'string') yield called.name;
  }
}

function fitting(name: string): string {
  if (FITS.test(name)) return name;
  const plain = name.replace(/[^\w.:-]/g, '_');
  const begun = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  return begun.length > MOST ? marked(begun, name) : begun;
}

/** What tells a name from another that would be written alike. */
const marked = (plain: string, name: string): string =>
  `${plain.slice(0, KEPT)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
