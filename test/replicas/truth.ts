import { type Answer, BROKEN_OFF, NOT_SENT, type Replica } from './replica.ts';

/** A credential of the run: a value of a key, or a token of a session. */
export interface Credential {
  readonly value: string;
  /** The id of the key that it belongs to. */
  readonly owner: string;
  /** What made it, and where, for messages. */
  readonly origin: string;
  /** When it was known that it counts, in milliseconds of the test's clock. */
  readonly since: number;
  /** When its end was sent off for the first time, whatever came of it. */
  endSentAt?: number;
  /** When its end was answered with a success. */
  endedAt?: number;
  /** Ends that were sent off and are not answered. */
  ends: number;
  /** Whether an end was asked for of which it is not known what became. */
  isInDoubt: boolean;
}

/** Milliseconds after which an ended credential is refused by every replica that is well: what is unheard of for five seconds, a look-up, and room for a busy machine. */
export const ENDS_WITHIN_MS = 9000;

/**
 * What the gateways have answered, and what follows from it for every later answer. It knows nothing of how a gateway works: what was answered with
 * a success holds from then on, what was answered with "nothing of it is done" was not done, and of the rest either may be.
 */
export class Truth {
  readonly problems: string[] = [];
  readonly live: Credential[] = [];
  readonly ended: Credential[] = [];
  /** The longest time after its end at which a replica still served a credential, of replicas that were well all the time, in milliseconds. */
  longestServedMs = 0;
  readonly served: { readonly answer: Answer; readonly replica: Replica }[] = [];
  /** Requests of which it is not known whether they were served. */
  unknown = 0;

  add(value: string, owner: string, origin: string): Credential {
    const credential: Credential = { value, owner, origin, since: performance.now(), ends: 0, isInDoubt: false };
    this.live.push(credential);
    return credential;
  }

  /** Its end is about to be sent. */
  ending(credential: Credential): void {
    credential.endSentAt ??= performance.now();
    credential.ends += 1;
  }

  /** Its end was answered. */
  end(credential: Credential, answer: Answer): void {
    credential.ends -= 1;
    const hadEnded = credential.endedAt !== undefined;
    if (answer.status >= 200 && answer.status < 300) credential.endedAt ??= answer.at;
    else if (!isRefused(answer)) credential.isInDoubt = true;
    const isOver = credential.endedAt !== undefined || credential.isInDoubt;
    if (!isOver && credential.ends === 0) delete credential.endSentAt;
    if (!isOver) return;
    const at = this.live.indexOf(credential);
    if (at >= 0) this.live.splice(at, 1);
    if (!hadEnded && credential.endedAt !== undefined) this.ended.push(credential);
  }

  /** A request with a credential was answered by a replica. */
  used(credential: Credential, answer: Answer, replica: Replica): void {
    const { status } = answer;
    if (status === 200) this.served.push({ answer, replica });
    else if (status === BROKEN_OFF) this.unknown += 1;
    if (status === 401) this.#refused(credential, answer, replica);
    if (status === 200) this.#accepted(credential, answer, replica);
    if (![NOT_SENT, BROKEN_OFF, 200, 401, 503].includes(status))
      this.problems.push(
        `${replica.name} answered ${status} to ${credential.origin} of ${credential.owner}: ${answer.body.slice(0, 200)}`,
      );
  }

  #refused(
    { owner, origin, since, endSentAt }: Credential,
    { at }: Answer,
    { name, illSince, wellSince }: Replica,
  ): void {
    if (endSentAt === undefined || endSentAt > at)
      this.problems.push(
        `${name} (ill since ${Math.round(illSince)}, well since ${Math.round(wellSince ?? 0)}) refused ${origin} of ${owner} at ${Math.round(at)}, made at ${Math.round(since)} and not ended`,
      );
  }

  #accepted(
    { owner, origin, endedAt }: Credential,
    { sentAt }: Answer,
    { name, wellSince, wellWithinMs }: Replica,
  ): void {
    if (endedAt === undefined || wellSince === undefined || sentAt < wellSince + wellWithinMs) return;
    const lateMs = sentAt - endedAt;
    if (lateMs > this.longestServedMs) this.longestServedMs = lateMs;
    if (lateMs > ENDS_WITHIN_MS)
      this.problems.push(`${name} served ${origin} of ${owner} ${Math.round(lateMs)} ms after its end`);
  }
}

/** Whether a change was refused, so that nothing of it may be done; otherwise either may be. */
export const isRefused = ({ status, body }: Answer): boolean =>
  status === NOT_SENT || (status === 503 && !body.includes('it is not known')) || (status >= 400 && status < 500);
