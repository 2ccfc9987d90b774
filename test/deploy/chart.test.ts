import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { forSuite, isSoak, temporaryFolder } from '../kit/index.ts';
import { findTool } from '../kit/tools.ts';
import { read } from '../architecture/source.ts';

const CHART = fileURLToPath(new URL('../../examples/deploy/helm/gw', import.meta.url));
const CASES = globSync('ci/*.yaml', { cwd: CHART }).map((path) => basename(path, '.yaml'));
const run = promisify(execFile);

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: any;
  readonly data?: Readonly<Record<string, string>>;
}

/** Schemas of objects by `apiVersion/kind`, which refuse unknown fields; made by build/kubernetes-schemas.ts. */
function validators(): (object: KubernetesObject) => ValidateFunction | undefined {
  const { kinds, $defs } = JSON.parse(read('test/fixtures/kubernetes-1.37.json')) as Record<
    string,
    Record<string, object>
  >;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const compiled = new Map(Object.entries(kinds!).map(([kind, schema]) => [kind, ajv.compile({ ...schema, $defs })]));
  return ({ apiVersion, kind }) => compiled.get(`${apiVersion}/${kind}`);
}

/** Values that are refused, by rule, and the nearest that are not. */
const REFUSED: Readonly<Record<string, readonly [bad: object, good: object]>> = {
  HV01: [{ replicas: 2 }, { replicas: 2, database: { existingSecret: 'a' } }],
  HV02: [
    { replicas: 2, persistence: { enabled: true }, database: { existingSecret: 'a' } },
    { replicas: 1, persistence: { enabled: true }, database: { existingSecret: 'a' } },
  ],
  HV03: [
    { replicas: 3, database: { existingSecret: 'a' } },
    { replicas: 3, database: { existingSecret: 'a', connectionsPerReplica: 18 } },
  ],
  HV04: [{ service: { type: 'LoadBalancer' } }, { service: { type: 'LoadBalancer' }, trustedProxies: ['10.0.0.0/8'] }],
  HV05: [{ drain: { delay: '0s', timeout: '61m' } }, { drain: { delay: '0s', timeout: '60m' } }],
  HV06: [{ configOwner: 'store' }, { configOwner: 'store', database: { existingSecret: 'a' } }],
  HV08: [{ serviceMonitor: { enabled: true } }, { serviceMonitor: { enabled: true, keySecret: { name: 'a' } } }],
  HV09: [
    { autoscaling: { enabled: true, minReplicas: 1, maxReplicas: 2 }, database: { existingSecret: 'a' } },
    { autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 2 }, database: { existingSecret: 'a' } },
  ],
  HV10: [{ config: { targets: [] }, existingConfigMap: 'a' }, { existingConfigMap: 'a' }],
  HV11: [
    { extraEnv: [{ name: 'OPENAI_API_KEY', value: 'a' }] },
    { extraEnv: [{ name: 'OPENAI_API_KEY', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }] },
  ],
};

describe('the chart', () => {
  it('has the version of the package', () => {
    const { appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { appVersion: string };
    expect(appVersion).to.equal((JSON.parse(read('package.json')) as { version: string }).version);
  });

  it('uses every value that it documents', () => {
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>;
    const templates = globSync('templates/*', { cwd: CHART })
      .map((path) => readFileSync(join(CHART, path), 'utf8'))
      .join('\n');
    const used = new Set([...templates.matchAll(/(?:\.Values|\$values)\.(\w+)/g)].map(([, name = '']) => name));
    expect([...used]).to.have.members(Object.keys(values));
  });

  it('sets variables of the gateway that the reference has', () => {
    const page = read('docs/configuration.md');
    const template = readFileSync(join(CHART, 'templates/deployment.yaml'), 'utf8');
    const names = [...template.matchAll(/name: ([A-Z][A-Z_]+?)(?:_FILE)?, value/g)].map(([, name]) => name);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).to.deep.equal([]);
  });

  if (!isSoak()) return;

  describe('as helm makes it', () => {
    const tool = forSuite(async () => ({ helm: findTool('helm'), folder: await temporaryFolder() }));
    const template = async (values: object, ...more: readonly string[]): Promise<readonly KubernetesObject[]> => {
      const { helm, folder } = tool();
      const file = join(folder, 'values.yaml');
      await writeFile(file, stringify(values));
      const { stdout } = await run(helm, ['template', 'test', CHART, '-f', file, ...more]);
      return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as KubernetesObject | null) ?? []);
    };
    const valuesOf = (name: string): object =>
      (parse(readFileSync(join(CHART, `ci/${name}.yaml`), 'utf8')) ?? {}) as object;

    it('has nothing that lint complains of', async () => {
      const { helm } = tool();
      for (const name of CASES) {
        const { stdout } = await run(helm, ['lint', '--strict', CHART, '-f', join(CHART, `ci/${name}.yaml`)]);
        expect(stdout).to.include('0 chart(s) failed');
      }
    });

    for (const name of CASES)
      it(`makes objects that Kubernetes takes: ${name}`, async () => {
        const validatorOf = validators();
        const objects = await template(valuesOf(name));
        expect(objects.map(({ kind }) => kind)).to.include.members(['Deployment', 'Service']);
        for (const object of objects) {
          if (object.kind === 'ServiceMonitor') continue; // of an operator, not of Kubernetes
          const validate = validatorOf(object);
          expect(validate, `${object.apiVersion}/${object.kind}`).to.not.equal(undefined);
          expect(validate?.(object), `${object.kind}: ${JSON.stringify(validate?.errors)}`).to.equal(true);
        }
        expect(JSON.stringify(await template(valuesOf(name))), 'a second time').to.equal(JSON.stringify(objects));
      });

    it('runs every container as the restricted profile asks', async () => {
      for (const name of CASES) {
        const deployment = (await template(valuesOf(name))).find(({ kind }) => kind === 'Deployment');
        const pod = deployment?.spec.template.spec;
        expect(pod.securityContext).to.deep.include({ runAsNonRoot: true, runAsUser: 65_532 });
        expect(pod.securityContext.seccompProfile.type).to.equal('RuntimeDefault');
        expect([pod.automountServiceAccountToken, pod.enableServiceLinks]).to.deep.equal([false, false]);
        for (const { securityContext } of pod.containers)
          expect(securityContext).to.deep.equal({
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          });
        expect(JSON.stringify(pod)).to.not.include('subPath');
      }
    });

    it('gives a pod as long to end as delay, timeout and the last writes may take', async () => {
      for (const [delay, timeout, seconds] of [
        ['5s', '10m', 620],
        ['0s', '15s', 30],
        ['5s', '59m15s', 3575],
        ['1500ms', '1m30s', 107],
      ] as const) {
        const deployment = (await template({ drain: { delay, timeout } })).find(({ kind }) => kind === 'Deployment');
        expect(deployment?.spec.template.spec.terminationGracePeriodSeconds, `${delay} ${timeout}`).to.equal(seconds);
      }
    });

    for (const [rule, [bad, good]] of Object.entries(REFUSED))
      it(`refuses by ${rule}, and takes what is nearest`, async () => {
        const error = (await template(bad).catch((refused: unknown) => refused)) as { stderr?: string };
        expect(error.stderr, JSON.stringify(bad)).to.include(`${rule}: `);
        expect(await template(good)).to.not.have.lengthOf(0);
      });

    it('is refused by the schemas where a field is misspelt', async () => {
      const deployment = (await template({})).find(({ kind }) => kind === 'Deployment');
      const wrong = { ...deployment, spec: { ...deployment?.spec, replcas: 1 } } as KubernetesObject;
      expect(validators()(wrong)?.(wrong)).to.equal(false);
    });
  });
});
