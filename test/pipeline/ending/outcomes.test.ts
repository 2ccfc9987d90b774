import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type ErrorCode, ERRORS, type FaultReason, GatewayError, type UpstreamFault } from 'gw/contract';
import { outcomeOf } from '../../../host/pipeline/ending/outcome-of.ts';
import { reasonOf } from '../../../host/pipeline/ending/reason-of.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const PAGE = readFileSync(new URL('../../../docs/admin.md', import.meta.url), 'utf8');
const SECTION = PAGE.slice(PAGE.indexOf('#### Outcomes'), PAGE.indexOf('`GET /admin/logs/stats` takes'));

const ended = (error: GatewayError | undefined, more: object = {}): [string, string | undefined] => {
  const facts = { error, forwardedStatus: undefined, rejectedBy: undefined, refused: undefined, attempts: 1, ...more };
  const reason = reasonOf(facts);
  return [outcomeOf({ ...facts, reason }), reason];
};
const failed = (fault: UpstreamFault, code: ErrorCode = 'upstream_error'): GatewayError =>
  new GatewayError(code, 'no', { fault });

describe('outcomes of requests', () => {
  it('are as the page says of every code, which names none beside them', () => {
    const rows = [...SECTION.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, outcome = '', text = '']) => ({
      outcome,
      codes: [...text.matchAll(/`(\w+)`/g)].map(([, code = '']) => code),
    }));
    expect(rows.map(({ outcome }) => outcome)).to.deep.equal([
      'ok',
      'client',
      'policy',
      'budget',
      'rate',
      'provider',
      'gateway',
    ]);
    for (const code of CODES) {
      const [outcome] = ended(new GatewayError(code, 'no'));
      const row = rows.find(({ codes }) => codes.includes(code));
      const isUpstreams = code.startsWith('upstream_');
      expect(outcome, code).to.equal(isUpstreams ? 'provider' : (row?.outcome ?? 'gateway'));
    }
    expect(rows.flatMap(({ codes }) => codes).filter((code) => !Object.hasOwn(ERRORS, code))).to.deep.equal([]);
  });

  it('have a reason of the page, each of them', () => {
    const words = [...SECTION.slice(SECTION.indexOf('`reason` is a word')).matchAll(/`([\w:<>]+)`/g)].map(
      ([, word]) => word,
    );
    for (const code of CODES)
      for (const attempts of [0, 1, 2])
        expect(words, code).to.include(ended(new GatewayError(code, 'no'), { attempts })[1]);
    for (let status = 400; status < 600; status += 1)
      expect(words).to.include(ended(failed({ kind: 'status', status }))[1]);
  });

  it('are the provider’s for every status but those that say the request is wrong', () => {
    for (let status = 400; status < 600; status += 1) {
      const isClients = [400, 404, 409, 413, 422].includes(status);
      expect(ended(failed({ kind: 'status', status }))[0], String(status)).to.equal(isClients ? 'client' : 'provider');
    }
    for (const kind of ['timeout', 'transport', 'reply'] as const)
      expect(ended(failed({ kind }))).to.deep.equal([
        'provider',
        kind === 'reply' ? 'upstream_reply' : 'upstream_down',
      ]);
    expect(ended(failed({ kind: 'transport' }), { attempts: 3 })).to.deep.equal(['provider', 'retries_spent']);
  });

  it('follow the kind of a failure before its status', () => {
    const outcomes: Record<FaultReason, string> = {
      context_length: 'client',
      content_policy: 'client',
      too_large: 'client',
      billing: 'provider',
      model_access: 'provider',
      key: 'provider',
      over_rate: 'provider',
      overload: 'provider',
    };
    for (const [reason, outcome] of Object.entries(outcomes) as [FaultReason, string][])
      for (const status of [400, 403, 404, 429, 503])
        expect(ended(failed({ kind: 'status', status, reason }))[0], `${reason} ${status}`).to.equal(outcome);
  });

  it('of what is forwarded follow its status alone', () => {
    const at = (forwardedStatus: number): [string, string | undefined] => ended(undefined, { forwardedStatus });
    expect([200, 302, 400, 401, 403, 404, 429, 500, 503].map(at)).to.deep.equal([
      ['ok', undefined],
      ['ok', undefined],
      ['client', 'upstream_refused'],
      ['provider', 'upstream_credential'],
      ['provider', 'upstream_credential'],
      ['client', 'upstream_refused'],
      ['provider', 'upstream_rate'],
      ['provider', 'upstream_down'],
      ['provider', 'upstream_down'],
    ]);
  });

  it('of a time that is over, or of no target, are the gateway’s while nothing was tried', () => {
    const at = (code: ErrorCode, attempts: number): unknown => ended(new GatewayError(code, 'no'), { attempts });
    expect(at('gateway_timeout', 0)).to.deep.equal(['gateway', 'deadline']);
    expect(at('gateway_timeout', 1)).to.deep.equal(['provider', 'deadline']);
    expect(at('upstream_unavailable', 0)).to.deep.equal(['gateway', 'unroutable']);
    expect(at('upstream_unavailable', 1)).to.deep.equal(['provider', 'circuit_open']);
  });

  it('of a list of the key are policy, although the client reads of a model that is not there', () => {
    const absent = new GatewayError('model_not_found', 'no');
    expect(ended(absent)).to.deep.equal(['client', 'no_such_model']);
    expect(ended(absent, { refused: 'key_models' })).to.deep.equal(['policy', 'key_models']);
    expect(ended(absent, { refused: 'key_providers' })).to.deep.equal(['policy', 'key_providers']);
    expect(ended(new GatewayError('request_rejected', 'no'), { rejectedBy: 'word-filter' })).to.deep.equal([
      'policy',
      'plugin:word-filter',
    ]);
    expect(ended(new GatewayError('rate_limit_exceeded', 'no', { reason: 'key_tpm' }))).to.deep.equal([
      'rate',
      'key_tpm',
    ]);
  });
});
