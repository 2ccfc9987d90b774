import { expect } from 'chai';
import type { FaultReason, GatewayError, ProviderModule } from '../../host/contract/index.ts';
import { outcomeOf } from '../../host/pipeline/attempts/attempt-lifecycle.ts';
import { nextStep, retryPolicy } from '../../host/pipeline/attempts/retry.ts';
import { faultInAnswer, faultInFrame, faultInUseless, replyError } from '../../host/upstream/fault.ts';
import { failureOf, repeatHeaders, wordsOf } from '../../host/wire/client-failure.ts';
import { PROVIDERS } from '../contract/hostile/wires.ts';
import { type Promised, PROMISED } from './fault-promises.ts';
import { bodyText, FAULT_VECTORS, type FaultVector, titleOf } from './fault-vectors.ts';

const plain = { name: 'acme' } as ProviderModule;
const moduleOf = ({ module }: FaultVector): ProviderModule => PROVIDERS.find(({ name }) => name === module) ?? plain;

function errorOf(vector: FaultVector): GatewayError {
  const { status, headers = {} } = vector;
  return replyError(moduleOf(vector), { status, headers, body: Buffer.from(bodyText(vector)) }, 0);
}

function stepAfter(error: GatewayError, failoverOn: readonly string[] = [], statuses: readonly number[] = []): string {
  return nextStep({
    error,
    tries: 1,
    policy: retryPolicy({ virtual_key: 'a', retry: { attempts: 2 } }),
    budget: undefined,
    strategy: { advances: true, failoverOn: new Set(failoverOn), failoverStatuses: new Set(statuses) },
    leftMs: undefined,
    random: () => 0.5,
  }).step;
}

const FOUR = ['context_length', 'content_policy', 'too_large', 'model_access'];

/** Everything that follows from a class, for an error of it. */
function expectConsequences(error: GatewayError, { ofRequest }: FaultVector, reason: FaultReason | undefined): void {
  const { fault } = error;
  expect(fault?.reason).to.equal(reason);
  const promised: Promised = reason ? PROMISED[reason] : {};
  const client = promised.client?.(fault?.status);
  if (client) expect([error.status, error.code]).to.deep.equal(client);
  if (promised.says !== undefined) expect(error.message).to.equal(promised.says);
  if (promised.isPrivate) expect(wordsOf(error)).to.equal(promised.says);
  else if (fault?.message !== undefined) expect(wordsOf(error)).to.equal(fault.message);
  const isRepeatable =
    fault?.status === undefined || fault.status === 408 || fault.status === 429 || fault.status >= 500;
  const isRetried = promised.isRetried ?? isRepeatable;
  expect(stepAfter(error) === 'again', 'retried').to.equal(isRetried);
  if (!isRetried) {
    const goesOn = promised.goesOn ?? (isRepeatable ? 'always' : 'stops');
    expect(stepAfter(error), 'next target').to.equal(goesOn === 'always' ? 'advance' : 'stop');
    expect(stepAfter(error, FOUR), 'next target by failover_on').to.equal(goesOn === 'stops' ? 'stop' : 'advance');
    expect(stepAfter(error, [], [fault?.status ?? 0]), 'next target by status').to.equal(
      goesOn === 'always' || fault?.status !== undefined ? 'advance' : 'stop',
    );
  }
  if (ofRequest) expect(outcomeOf(error), 'breaker').to.equal('ignored');
  else if (promised.counts) expect(outcomeOf(error), 'breaker').to.equal(promised.counts);
  expect(repeatHeaders(failureOf(error, error.message, 'id'))).to.deep.equal(
    promised.isFinal ? ['x-should-retry', 'false'] : [],
  );
}

describe('what vendors answer', () => {
  for (const vector of FAULT_VECTORS)
    it(titleOf(vector), () => {
      const error = errorOf(vector);
      expectConsequences(error, vector, vector.reason);
      expect(error.fault?.tokens).to.deep.equal(vector.tokens);
      expect(error.fault?.ofRequest).to.equal(vector.ofRequest);
      const message = error.fault?.message ?? '';
      if (vector.message === undefined) expect(bodyText(vector)).to.include(JSON.stringify(message).slice(1, -1));
      else expect(message).to.equal(vector.message);
      if (vector.reason === 'context_length' || vector.reason === 'content_policy')
        expect(error.message).to.equal(message);
    });

  it('covers every class', () => {
    expect(new Set(FAULT_VECTORS.map(({ reason }) => reason))).to.include.keys(...Object.keys(PROMISED));
  });
});

describe('what vendors answer, inside an answer that says 200', () => {
  const wholes = FAULT_VECTORS.filter(({ body }) => typeof body !== 'string');
  for (const vector of wholes)
    it(titleOf(vector), () => {
      const reason = vector.inside === 'none' ? undefined : (vector.inside ?? vector.reason);
      const whole = faultInAnswer(vector.body) ?? faultInUseless(vector.body);
      const frame = faultInFrame(vector.body) ?? faultInUseless(vector.body);
      for (const error of [whole, frame])
        if (error) expectConsequences(error, vector, reason);
        else expect(reason).to.equal(undefined);
      expect(whole?.fault).to.deep.equal(frame?.fault);
    });
});
