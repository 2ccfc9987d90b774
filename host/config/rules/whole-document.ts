import { streamTime } from '../stream-times.ts';
import { REPORT_USES, UNPRICED } from '../unpriced-rule.ts';
import type { GatewayConfig } from '../document.ts';
import { parseDuration } from '../../contract/duration.ts';
import { holdsReference } from '../references.ts';
import { ENDPOINT_FORMS, TRACING_PROTOCOLS, tracingEndpoint } from '../tracing-endpoint.ts';
import { type ConfigRule, type RuleContext } from './rule.ts';

function allowed(
  id: string,
  path: string,
  read: (config: GatewayConfig) => string | undefined,
  values: readonly string[],
): ConfigRule {
  return {
    id,
    check: (config, { report }) => {
      const value = read(config);
      if (!value || values.includes(value)) return;
      report(path, `"${value}" is not allowed`, `use one of: ${values.join(', ')}`);
    },
  };
}

/** Rules that have one id, because they are of one kind. */
function together(id: string, rules: readonly ConfigRule[]): ConfigRule {
  return {
    id,
    check: (config, context) => {
      for (const rule of rules) rule.check(config, context);
    },
  };
}

function declaredTarget(id: string, field: 'batch_target' | 'responses_target'): ConfigRule {
  return {
    id,
    needs: /^targets(\[\d+\](\.virtual_key)?)?$/,
    check: (config, { report }) => {
      const value = config[field];
      if (!value || config.targets.some(({ virtual_key }) => virtual_key === value)) return;
      report(
        field,
        `${field} is "${value}", which no target declares`,
        `use one of: ${config.targets.map(({ virtual_key }) => virtual_key).join(', ')}`,
      );
    },
  };
}

function positiveDuration(report: RuleContext['report'], path: string, value: string | undefined): void {
  if (!value || (parseDuration(value) ?? 0) > 0) return;
  report(path, `request_timeout is "${value}"`, 'write a duration above zero, such as 30s or 1m30s');
}

function streamTimeRule(id: string, field: 'keepalive' | 'open_after'): ConfigRule {
  return {
    id,
    check: ({ streaming: { [field]: value } }, { report }) => {
      if (!value || streamTime(value) !== undefined) return;
      report(`streaming.${field}`, `streaming.${field} is "${value}"`, 'write a duration of 1s to 60s, or off');
    },
  };
}

export const sizeRule: ConfigRule = {
  id: 'CV34',
  check: ({ max_request_bytes: bytes }, { report }) => {
    if (bytes !== undefined && bytes < 0)
      report('max_request_bytes', `max_request_bytes is ${bytes}`, 'write bytes, or 0 for the default of 10 MiB');
  },
};

export const documentRules: readonly ConfigRule[] = [
  declaredTarget('CV20', 'batch_target'),
  declaredTarget('CV21', 'responses_target'),
  {
    id: 'CV19',
    check: (config, { report }) => {
      positiveDuration(report, 'request_timeout', config.request_timeout);
      config.targets.forEach((target, index) =>
        positiveDuration(report, `targets[${index}].request_timeout`, target.request_timeout),
      );
    },
  },
  allowed('CV22', 'observability.tracing.privacy_level', (config) => config.observability.tracing?.privacy_level, [
    'none',
    'metadata',
    'full',
  ]),
  allowed(
    'CV22c',
    'observability.tracing.protocol',
    (config) => config.observability.tracing?.protocol,
    Object.keys(TRACING_PROTOCOLS),
  ),
  {
    id: 'CV22d',
    check: ({ observability: { tracing } }, { report }) => {
      const { endpoint, protocol = '' } = tracing ?? {};
      if (
        !endpoint ||
        holdsReference(endpoint) /* legal wherever it stands */ ||
        tracingEndpoint(endpoint, TRACING_PROTOCOLS[protocol] ?? 'grpc')
      )
        return;
      report(
        'observability.tracing.endpoint',
        `endpoint is "${endpoint}", which is not the address of a collector`,
        ENDPOINT_FORMS,
      );
    },
  },
  streamTimeRule('CV102', 'keepalive'),
  streamTimeRule('CV103', 'open_after'),
  allowed('CV40', 'responses.translate', (config) => config.responses.translate, ['off', 'auto']),
  together('CV89', [
    allowed('CV89', 'money.unpriced', (config) => config.money.unpriced, UNPRICED),
    allowed('CV89', 'money.price_reports', (config) => config.money.price_reports, REPORT_USES),
  ]),
  allowed('CV22b', 'compatibility.on_unsupported_param', (config) => config.compatibility.on_unsupported_param, [
    'warn',
    'drop',
    'reject',
  ]),
];
