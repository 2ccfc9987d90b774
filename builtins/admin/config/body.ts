import { isUtf8 } from 'node:buffer';
import { type Decoded, decodeText, isOfIdentity } from '../../../host/config/decode.ts';
import { type Problem, problemLine } from '../../../host/config/problems.ts';
import { GatewayError } from '../../../host/contract/index.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';

/** Characters of a refusal at most: it names every problem, and a hostile body may have any number of them. */
const LONGEST_REFUSAL = 64 * 1024;

/** A configuration that is refused: why, problem by problem. */
export class RefusedConfiguration extends GatewayError {
  /** The field with a marker in it, or with a reference that only a file may hold. */
  readonly field: string | undefined;
  /** Why that field was refused. */
  readonly fieldReason: 'redacted_secret' | 'secret_reference' | undefined;

  constructor(code: 'invalid_request' | 'invalid_config' | 'redacted_secret', problems: readonly Problem[]) {
    super(code, [...unknownKeys(problems), ...problems.map(problemLine)].join('\n'), { messageLimit: LONGEST_REFUSAL });
    const reference = problems.find(({ rule }) => rule === 'BV30' || rule === 'BV31');
    this.field = code === 'redacted_secret' ? problems[0]?.path : reference?.path;
    if (code === 'redacted_secret') this.fieldReason = code;
    else this.fieldReason = reference && 'secret_reference';
  }
}

/** All of them first, so that whatever else is wrong leaves none out. */
function unknownKeys(problems: readonly Problem[]): string[] {
  const paths = problems.filter(({ rule }) => rule === 'DC01').map(({ path }) => path);
  return paths.length > 1 ? [`unknown keys: ${paths.join(', ')}`] : [];
}

/** Reads a configuration as strictly as a file is read. Throws for what cannot be decoded, then for what was shown without its secrets. */
export function readConfiguration(bytes: Buffer): Decoded {
  if (!isUtf8(bytes)) throw invalidRequest('the request body is not valid UTF-8');
  const decoded = decodeText(bytes.toString('utf8'), 'json');
  const problems = decoded.problems.filter((problem) => !isOfIdentity(problem)); // BV32 says that it has no place here
  const markers = problems.filter(({ rule }) => rule === 'DC06');
  const others = problems.filter(({ rule }) => rule !== 'DC06');
  if (others.length > 0) throw new RefusedConfiguration('invalid_request', others);
  if (markers.length > 0) throw new RefusedConfiguration('redacted_secret', markers);
  return decoded;
}
