import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { atEnd, forSuite, startGateway, temporaryFolder } from '../../kit/index.ts';
import { FAILING, VendorServer } from './vendors/server.ts';
import { isHeld } from '../../providers/places.ts';
import { VENDORS } from './vendors/vendors.ts';

/** Vendors whose providers there are; test/providers/places.test.ts names the others. */
export const NAMES = Object.keys(VENDORS).filter((name) => isHeld(name));

/** A gateway process in front of every vendor, for all tests of a suite. */
export interface VendorGateway {
  readonly baseURL: string;
  readonly key: string;
  readonly client: OpenAI;
  readonly vendors: VendorServer;
}

export interface VendorGatewayOptions {
  /** Beside those that lead to the vendors. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Beside the targets. */
  readonly config?: object;
}

/**
 * Starts the gateway before the tests of the suite it is called in, and ends it after them. Each vendor's models are
 * asked for as `<vendor>/<surface>`, which `model_map` turns into the vendor's own names.
 */
export function withVendors({ variables = {}, config = {} }: VendorGatewayOptions = {}): () => VendorGateway {
  const opened = forSuite(async (): Promise<VendorGateway> => {
    const vendors = new VendorServer();
    await vendors.listen();
    atEnd(() => vendors.close());
    const folder = await temporaryFolder();
    const path = join(folder, 'config.json');
    await writeFile(path, JSON.stringify({ strategy: { mode: 'fallback' }, targets: NAMES.map(targetOf), ...config }));
    const { url, key } = await startGateway({
      cwd: folder,
      variables: { GATEWAY_CONFIG: path, ...vendors.variables(), ...variables },
    });
    const baseURL = `${url}/v1`;
    return { baseURL, key, vendors, client: new OpenAI({ baseURL, apiKey: key, maxRetries: 0, timeout: 60_000 }) };
  });
  beforeEach(() => opened().vendors.forget());
  return opened;
}

function targetOf(name: string): object {
  const own = Object.entries(VENDORS[name]?.surfaces ?? {}).map(([surface, { model }]) => [
    `${name}/${surface}`,
    model,
  ]);
  const failing = Object.keys(FAILING).map((model) => [`${name}/${model}`, model]);
  const second = name === 'openai' ? [['openai/dall-e', 'dall-e-3']] : [];
  return { virtual_key: name, model_map: Object.fromEntries([...own, ...failing, ...second]) };
}
