import { MODULES } from '../../../builtins/manifest.ts';
import type { ProviderModule, TranslatedSurface } from '../../../host/contract/index.ts';
import { type ConnectedProvider } from '../../../host/upstream/connect.ts';
import { connect, golden, type SurfaceFacts, variablesOf } from '../../kit/index.ts';
import { type Facts, FACTS } from './facts.ts';

export const PROVIDERS: readonly ProviderModule[] = MODULES.filter((module) => module.kind === 'provider');

export interface Case<S extends TranslatedSurface> {
  readonly facts: Facts;
  readonly name: string;
  readonly surface: S;
  readonly model: string;
  readonly url: SurfaceFacts['url'];
}

/** The providers that serve a surface. */
export function serving<S extends TranslatedSurface>(surface: S): readonly Case<S>[] {
  return FACTS.flatMap((facts) => {
    const row = facts.surfaces[surface];
    return row ? [{ facts, name: facts.name, surface, ...row }] : [];
  });
}

/** The shipped module; a test that asks for one that is missing fails. */
export function moduleOf(name: string): ProviderModule {
  const found = PROVIDERS.find((module) => module.name === name);
  if (!found) throw new Error(`no provider "${name}" is registered`);
  return found;
}

export function factsOf(name: string): Facts {
  const found = FACTS.find((facts) => facts.name === name);
  if (!found) throw new Error(`no facts about "${name}"`);
  return found;
}

/** The provider with its credential, at `http://h:9911` unless said. */
export function connected(
  name: string,
  address = 'http://h:9911',
  more: Record<string, string> = {},
): Promise<ConnectedProvider> {
  return connect(moduleOf(name), { ...variablesOf(factsOf(name), address), ...more });
}

export function goldenJson(path: string): any {
  return JSON.parse(golden(path));
}

/** Bytes of a fixture that is not text. */
export function goldenBytes(path: string): Buffer {
  return Buffer.from(golden(path), 'base64');
}

/** The vectors of the embeddings fixtures; float32 holds them exactly. */
export const VECTORS = [
  [0.25, -0.5, 1],
  [0.125, 0, -2],
] as const;

export function base64OfFloats(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
