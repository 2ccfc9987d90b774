import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

export type Schema = Readonly<Record<string, unknown>>;
export type Members = Readonly<Record<string, Schema>>;
export type Body = Readonly<Record<string, any>>;

/** Says why a vendor answers 400 or 422; nothing when it takes the body. */
export type Validator = (body: Body) => string[];

export const text: Schema = { type: 'string' };
export const filled: Schema = { type: 'string', minLength: 1 };
export const flag: Schema = { type: 'boolean' };
export const anything: Schema = {};
export const anyObject: Schema = { type: 'object' };
export const texts: Schema = { type: 'array', items: text };

export const within = (minimum: number, maximum: number): Schema => ({ type: 'number', minimum, maximum });
export const whole = (minimum?: number, maximum?: number): Schema => ({
  type: 'integer',
  ...(minimum !== undefined && { minimum }),
  ...(maximum !== undefined && { maximum }),
});
export const oneOf = (...values: readonly unknown[]): Schema => ({ enum: values });
export const matching = (pattern: string): Schema => ({ type: 'string', pattern });
export const listOf = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more });
export const either = (...schemas: readonly Schema[]): Schema => ({ anyOf: schemas });
/** What may also be `null`. */
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

/** An object that holds nothing beside these. */
export function closed(required: Members, optional: Members = {}): Schema {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  };
}

/** An object that may hold more. */
export function open(required: Members, optional: Members = {}): Schema {
  return { ...closed(required, optional), additionalProperties: true };
}

/** Closed objects of which one member says which they are. */
export function tagged(
  tag: string,
  kinds: Readonly<Record<string, readonly [required: Members, optional?: Members]>>,
): Schema {
  const branches = Object.entries(kinds).map(([name, [required, optional]]) =>
    closed({ [tag]: { const: name }, ...required }, optional),
  );
  return { type: 'object', required: [tag], discriminator: { propertyName: tag }, oneOf: branches };
}

/** Closed objects of which exactly one member is there, and says what they are. */
export function unionOf(kinds: Members, beside: Members = {}): Schema {
  return { ...closed({}, { ...kinds, ...beside }), oneOf: Object.keys(kinds).map((name) => ({ required: [name] })) };
}

const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true, logger: false });

/** A validator of a schema, whose findings name the place. Compiled when it is first used: most test files use few of them. */
export function validator(schema: Schema): Validator {
  let validate: ValidateFunction | undefined;
  return (body) =>
    (validate ??= ajv.compile(schema))(body)
      ? []
      : [
          ...new Set(
            telling(validate.errors ?? []).map(
              ({ instancePath, message = '', params }) => `${instancePath || '/'}: ${message}${namedIn(params)}`,
            ),
          ),
        ];
}

/** The errors of the alternative that got furthest, where all failed: the others only say that the value is not of their kind. */
function telling(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const isGeneral = ({ keyword, params }: ErrorObject): boolean =>
    ['anyOf', 'oneOf', 'type'].includes(keyword) ||
    (keyword === 'enum' && (params as Body)['allowedValues'] === undefined);
  return errors.filter(
    (error) =>
      !isGeneral(error) ||
      !errors.some(
        (other) =>
          other !== error &&
          !isGeneral(other) &&
          (other.instancePath === error.instancePath || other.instancePath.startsWith(`${error.instancePath}/`)),
      ),
  );
}

function namedIn(params: Readonly<Record<string, unknown>>): string {
  const name = params['additionalProperty'] ?? params['missingProperty'] ?? params['tagValue'];
  return name === undefined ? '' : ` (${JSON.stringify(name)})`;
}

/** Several validators as one; the later ones see only bodies that the first takes, since they walk through them. */
export function inOrder(first: Validator, ...rest: readonly Validator[]): Validator {
  return (body) => {
    const found = first(body);
    return found.length > 0 ? found : rest.flatMap((one) => one(body));
  };
}

export const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === '';
