/**
 * Writes what of the schemas of Kubernetes the chart's objects need: `node build/kubernetes-schemas.ts <folder> <version>`. The folder is one of
 * `kubernetes-json-schema` with files such as `deployment-apps-v1.json`, as the package `kubernetes-validate` of PyPI brings them (MIT).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './restore.ts';

const KINDS: Readonly<Record<string, string>> = {
  'v1/ConfigMap': 'configmap-v1',
  'v1/PersistentVolumeClaim': 'persistentvolumeclaim-v1',
  'v1/Service': 'service-v1',
  'apps/v1/Deployment': 'deployment-apps-v1',
  'autoscaling/v2/HorizontalPodAutoscaler': 'horizontalpodautoscaler-autoscaling-v2',
  'networking.k8s.io/v1/Ingress': 'ingress-networking-v1',
  'networking.k8s.io/v1/NetworkPolicy': 'networkpolicy-networking-v1',
  'policy/v1/PodDisruptionBudget': 'poddisruptionbudget-policy-v1',
};
const DEFINITION = /^(?:.*_definitions\.json)?#\/\$defs\/(.+)$/;

const [folder, version] = process.argv.slice(2);
if (folder === undefined || version === undefined)
  throw new Error('use: kubernetes-schemas.ts <folder of schemas> <version of Kubernetes>');
const read = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Record<string, unknown>;
const all = read('_definitions')['$defs'] as Readonly<Record<string, unknown>>;
const needed = new Map<string, unknown>();

/** Without descriptions, and with every definition that it refers to taken in. */
function reduced(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reduced);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    if (name === 'description' && typeof inner === 'string') return [];
    if (name === '$schema' || name.startsWith('x-kubernetes')) return [];
    const definition = name === '$ref' && typeof inner === 'string' ? DEFINITION.exec(inner)?.[1] : undefined;
    if (definition === undefined) return [[name, reduced(inner)]];
    take(definition);
    return [[name, `#/$defs/${definition}`]];
  });
  return Object.fromEntries(entries);
}

function take(name: string): void {
  if (needed.has(name)) return;
  needed.set(name, {}); // before it is read: definitions may refer to themselves
  needed.set(name, reduced(all[name]));
}

const kinds = Object.fromEntries(Object.entries(KINDS).map(([kind, file]) => [kind, reduced(read(file))]));
const definitions = Object.fromEntries([...needed].toSorted(([one], [other]) => (one < other ? -1 : 1)));
writeFileSync(
  join(ROOT, `test/fixtures/kubernetes-${version}.json`),
  `${JSON.stringify({ kinds, $defs: definitions })}\n`,
);
process.stdout.write(`${Object.keys(kinds).length} kinds, ${needed.size} definitions\n`);
