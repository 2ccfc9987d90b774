type Json = any;

/** Members without which a thing is another, or nothing at all. */
const NEEDED = new Set([
  'messages',
  'role',
  'type',
  'function',
  'name',
  'id',
  'tool_call_id',
  'image_url',
  'url',
  'file',
  'file_data',
  'input_audio',
  'data',
  'text',
  'json_schema',
  'schema',
  'content',
]);

/** The smallest request that still fails, as far as leaving things out one by one finds it. */
export async function shrunk<T extends object>(
  request: T,
  fails: (request: T) => Promise<boolean>,
  most = 400,
): Promise<T> {
  let best = request;
  let tries = 0;
  for (let isSmaller = true; isSmaller && tries < most;) {
    isSmaller = false;
    for (const smaller of reductions(best)) {
      tries += 1;
      if (tries > most) break;
      if (await fails(smaller as T).catch(() => false)) {
        best = smaller as T;
        isSmaller = true;
        break;
      }
    }
  }
  return best;
}

/** Every way to leave one thing out, the largest things first. */
function* reductions(value: Json): Generator<Json> {
  if (Array.isArray(value)) {
    if (value.length > 1) for (const at of value.keys()) yield value.toSpliced(at, 1);
    for (const [at, item] of value.entries()) for (const smaller of reductions(item)) yield value.with(at, smaller);
  } else if (typeof value === 'object' && value !== null) {
    for (const name of Object.keys(value).filter((one) => !NEEDED.has(one))) {
      const { [name]: _left, ...rest } = value;
      yield rest;
    }
    for (const [name, member] of Object.entries(value))
      for (const smaller of reductions(member)) yield { ...value, [name]: smaller };
  } else if (typeof value === 'string' && value.length > 12 && !/^data:|^https:/.test(value)) yield value.slice(0, 8);
}
