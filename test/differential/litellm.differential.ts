import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readLitellmSource } from '../../builtins/cli/import/proof/litellm-source.ts';
import { PYTHON } from './install.ts';

const FIXTURES = new URL('../fixtures/import/litellm/', import.meta.url);
/** How far a share of 400 draws may be from what is expected. */
const TOLERANCE = 0.1;
/** Names of several places that the router chooses by what it has measured. */
const MEASURED = /latency|cost|busy|usage/;

type Drawn = readonly (readonly [model: string, address: string, share: number])[];

async function ask(question: object): Promise<Readonly<Record<string, Drawn>>> {
  const text = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      PYTHON,
      [fileURLToPath(new URL('router.py', import.meta.url))],
      { timeout: 120_000 },
      (error, stdout) => {
        if (error) reject(error);
        else resolve(stdout);
      },
    );
    child.stdin?.end(JSON.stringify(question));
  });
  return JSON.parse(text) as Readonly<Record<string, Drawn>>;
}

/** Variables are given values, as the proxy does before its router gets the document. */
const resolved = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll(/"os\.environ\/(\w+)"/g, '"https://set-$1.invalid"'));

/** `npm run test:differential`. The second reading of a document is compared with what LiteLLM's router does with it. */
describe('the router of LiteLLM', () => {
  for (const file of readdirSync(FIXTURES)) {
    it(`sends the names of ${file} where the proof of an import takes them to go`, async function () {
      if (!existsSync(PYTHON)) this.skip();
      const document = parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as Record<string, any>;
      const settings = document['router_settings'] ?? {};
      const names = readLitellmSource(document, (name) => `https://set-${name}.invalid`);
      const groups = (settings.routing_groups ?? []) as readonly Record<string, any>[];
      const virtual = new Set(groups.map(({ group_name }) => group_name));
      const asked = names.filter(({ name }) => !virtual.has(name) && !name.includes(' '));
      const answers = await ask({
        model_list: resolved(withCredentials(document)),
        model_group_alias: settings.model_group_alias ?? {},
        routing_groups: [],
        names: asked.map((one) => one.asked),
      });
      const isMeasured = MEASURED.test(JSON.stringify(settings));
      for (const { name, asked: text, routes } of asked) {
        const drawn = answers[text] ?? [];
        const expected = routes.filter(({ share }) => share === undefined || share > 0);
        for (const [model, address] of drawn)
          expect(
            expected.some(({ place }) => model.endsWith(place.model) && address === place.address),
            `${name}: ${model} ${address}`,
          ).to.equal(true);
        for (const { place } of expected) {
          const same = ([model, address]: readonly [string, string, number]): boolean =>
            model.endsWith(place.model) && address === place.address;
          const share = drawn.filter(same).reduce((sum, [, , one]) => sum + one, 0);
          const due = expected
            .filter((one) => one.place.model === place.model && one.place.address === place.address)
            .reduce((sum, one) => sum + (one.share ?? 0), 0);
          if (!isMeasured) expect(share, `${name}: ${place.model} ${place.address}`).to.be.closeTo(due, TOLERANCE);
          else expect(share, `${name}: ${place.model}`).to.be.above(0);
        }
      }
    });
  }
});

/** What the proxy adds to a deployment that names a credential. */
function withCredentials(document: Record<string, any>): readonly unknown[] {
  const shared = (document['credential_list'] ?? []) as readonly Record<string, any>[];
  return (document['model_list'] as readonly Record<string, any>[]).map((item) => {
    // A budget wants an event loop, and chooses nothing before anything is spent.
    const {
      litellm_credential_name: name,
      max_budget: _budget,
      budget_duration: _duration,
      ...own
    } = item['litellm_params'] as Record<string, unknown>;
    const values = shared.find(({ credential_name }) => credential_name === name)?.['credential_values'] as
      | object
      | undefined;
    return { ...item, litellm_params: { ...values, ...own } };
  });
}
