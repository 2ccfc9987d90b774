import { type CallInfo, setMember } from 'gw/contract';
import { type Fields, isGiven } from './fields.ts';

export interface BodyOptions {
  /** Fields that the vendor names differently: ours to theirs. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Fields that the vendor refuses or does not read: left out, and reported as ignored. */
  readonly drops?: readonly string[];
  /** Last change to the body, for what the options cannot say. Returns a new body. */
  readonly adjust?: (body: Fields) => Fields;
}

export interface CommonBody {
  readonly body: Fields;
  readonly ignored: readonly string[];
}

/** A request as the common wire sends it: every field, known or not, with the upstream's model. */
export function commonBody(
  request: Fields,
  call: CallInfo,
  { renames = {}, drops = [], adjust }: BodyOptions,
): CommonBody {
  const body: Record<string, unknown> = { ...request, model: call.model };
  for (const name of drops) delete body[name];
  renameFields(body, Object.entries(renames));
  return { body: adjust ? adjust(body) : body, ignored: drops.filter((name) => isGiven(request[name])) };
}

/** Moves fields to other names, in place. */
export function renameFields(body: Record<string, unknown>, renames: readonly (readonly [string, string])[]): void {
  for (const [name, wireName] of renames) {
    if (body[name] === undefined) continue;
    setMember(body, wireName, body[name]);
    delete body[name];
  }
}
