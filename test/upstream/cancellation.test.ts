import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';

const left = new GatewayError('client_canceled', 'the client closed the connection');
const late = new GatewayError('gateway_timeout', 'too late');

describe('cancellation', () => {
  it('keeps the first cause, and tells each listener once', () => {
    const cancellation = new Cancellation();
    const causes: unknown[] = [];
    cancellation.onCancel((cause) => causes.push(cause));
    cancellation.onCancel((cause) => causes.push(cause));
    cancellation.cancel(left);
    cancellation.cancel(late);
    expect(causes).to.deep.equal([left, left]);
    expect(cancellation.cause).to.equal(left);
  });

  it('tells a late listener at once', () => {
    const cancellation = new Cancellation();
    cancellation.cancel(left);
    const causes: unknown[] = [];
    cancellation.onCancel((cause) => causes.push(cause))();
    expect(causes).to.deep.equal([left]);
  });

  it('does not call a listener that was removed, also from inside another listener', () => {
    const cancellation = new Cancellation();
    const calls: string[] = [];
    const stop = cancellation.onCancel(() => calls.push('stopped'));
    cancellation.onCancel(() => calls.push('kept'));
    stop();
    stop();
    cancellation.cancel(left);
    expect(calls).to.deep.equal(['kept']);
  });

  it('throws its cause once cancelled', () => {
    const cancellation = new Cancellation();
    expect(() => cancellation.throwIfCancelled()).to.not.throw();
    cancellation.cancel(late);
    expect(() => cancellation.throwIfCancelled()).to.throw(GatewayError, 'too late');
  });

  it('makes one signal, aborted whether it is asked for before or after', () => {
    const cancellation = new Cancellation();
    const { signal } = cancellation;
    expect(signal.aborted).to.equal(false);
    cancellation.cancel(left);
    expect(cancellation.signal).to.equal(signal);
    expect(signal.reason).to.equal(left);
    const other = new Cancellation();
    other.cancel(late);
    expect(other.signal.reason).to.equal(late);
  });
});
