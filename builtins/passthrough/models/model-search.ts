import { parseJson } from '../../../host/contract/index.ts';
import { meaningsOf, modelsIn, type NamedModel, namesModel } from '../../../host/pipeline/named-models.ts';
import { hasRepeatedNames } from '../../../host/wire/repeated-names.ts';
import { boundaryIn, isOddHeader, MAX_HEADERS, partHead } from './part-head.ts';

/** Bytes of a line that are kept to be read, and of the value of a field that names a model. */
const MAX_LINE = 16 * 1024 * 1024;
const MAX_VALUE = 1024;
/** Characters of JSON over several lines. */
const MAX_PENDING = 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/** The models that a JSON text names, beside the one that it is routed by; `undefined` for what is not JSON, or says something twice: others may read it otherwise. */
export function modelsInJson(text: string, isRouted = false): readonly NamedModel[] | undefined {
  try {
    const value = parseJson(text);
    return hasRepeatedNames(text, value) ? undefined : modelsIn(value, isRouted);
  } catch {
    return undefined;
  }
}

/** A field of a form, or a file without a form around it. */
interface Field {
  readonly isModel: boolean;
  readonly isPurpose: boolean;
  readonly isFile: boolean;
  value: string;
  /** JSON whose first line is none by itself. */
  pending: string | undefined;
  lines: number;
}

const A_FILE: Omit<Field, 'value' | 'pending' | 'lines'> = { isModel: false, isPurpose: false, isFile: true };

export const isForm = (mediaType: string): boolean => /^\s*multipart\//i.test(mediaType);

/**
 * Looks for names of models in a body while it passes: in the lines of a batch, in fields of a form, and in JSON that is such a field. What parsers
 * read differently counts as broken, so that no upstream finds a field that was not looked at.
 */
export class ModelSearch {
  /** What a form says that it is made for. */
  readonly purposes: string[] = [];
  /** A field cannot be read. */
  isBroken = false;
  /** A file is something else than a JSON text, or lines of JSON. */
  isUnclear = false;
  #found: NamedModel[] = [];
  /** What a part begins with. */
  readonly #boundary: string | undefined;
  #line: Buffer[] = [];
  #bytes = 0;
  #headers: string | undefined;
  #field: Field | undefined;

  constructor(mediaType: string) {
    const boundary = isForm(mediaType) ? boundaryIn(mediaType) : undefined;
    this.#boundary = boundary === undefined ? undefined : `--${boundary}`;
    if (!isForm(mediaType)) this.#open(A_FILE);
    else if (boundary === undefined) this.isBroken = true;
  }

  push(bytes: Buffer): void {
    let from = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
      this.#keep(bytes.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#keep(bytes.subarray(from));
  }

  end(): void {
    this.#endLine();
    this.#close();
  }

  /** What was found since it was asked last. */
  take(): readonly NamedModel[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  #keep(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= MAX_LINE) this.#line.push(bytes);
  }

  #endLine(): void {
    const isWhole = this.#bytes <= MAX_LINE;
    const bytes = Buffer.concat(this.#line);
    this.#line = [];
    this.#bytes = 0;
    const line = bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
    const place = this.#boundary === undefined ? -1 : line.indexOf(this.#boundary, 0, 'latin1');
    if (place > 0) this.isBroken = true; // some parsers end a line at other places
    if (place === 0) this.#beginPart();
    else if (this.#headers !== undefined) this.#addHeader(line.toString('utf8'));
    else if (this.#field) this.#addValue(this.#field, line, isWhole);
  }

  #beginPart(): void {
    if (this.#headers === undefined) this.#close();
    else this.isBroken = true;
    this.#headers = '';
  }

  #addHeader(line: string): void {
    if (isOddHeader(line)) this.isBroken = true;
    if (line === '') {
      this.#open(fieldIn(this.#headers ?? ''));
      return;
    }
    if ((this.#headers ?? '').length > MAX_HEADERS) this.isBroken = true;
    else this.#headers = `${this.#headers}\n${line}`;
  }

  #open(field: Omit<Field, 'value' | 'pending' | 'lines'> | undefined): void {
    this.#headers = undefined;
    if (!field) this.isBroken = true;
    this.#field = field && { ...field, value: '', pending: undefined, lines: 0 };
  }

  #addValue(field: Field, line: Buffer, isWhole: boolean): void {
    if ((field.isModel || field.isPurpose) && field.value.length < MAX_VALUE)
      field.value += `${field.value === '' ? '' : '\n'}${line.toString('utf8', 0, MAX_VALUE)}`;
    if (mayBeJson(line)) this.#addJson(field, isWhole ? line.toString('utf8').trim() : undefined);
    else if (field.pending !== undefined) this.#continue(field, line);
    else if (field.isFile && !isBlank(line)) this.isUnclear = true;
  }

  #addJson(field: Field, text: string | undefined): void {
    const models = text === undefined ? undefined : modelsInJson(text);
    field.lines += 1;
    if (models) this.#add(models);
    else if (field.pending === undefined && field.lines === 1) field.pending = '';
    if (field.pending !== undefined) this.#continue(field, Buffer.from(text ?? ' '.repeat(MAX_PENDING + 1)));
    else if (!models) this.#fail(field);
  }

  #continue(field: Field, line: Buffer): void {
    if ((field.pending ?? '').length + line.length <= MAX_PENDING) field.pending += `${line.toString('utf8')}\n`;
    else this.#fail(field);
  }

  #close(): void {
    const field = this.#field;
    this.#field = undefined;
    if (!field) return;
    if (field.isModel && field.value !== '') this.#found.push(meaningsOf(field.value));
    if (field.isPurpose) this.purposes.push(field.value);
    const models = field.pending === undefined ? [] : modelsInJson(field.pending);
    if (models) this.#add(models);
    else this.#fail(field);
  }

  #add(models: readonly NamedModel[]): void {
    for (const model of models) this.#found.push(model);
  }

  #fail({ isFile }: Field): void {
    if (isFile) this.isUnclear = true;
    else this.isBroken = true;
  }
}

const isBlank = (line: Buffer): boolean => line.length < 64 && line.toString('latin1').trim() === '';

/** Begins with a brace or a bracket, blanks and the mark of UTF-8 aside. */
function mayBeJson(line: Buffer): boolean {
  const at = line.findIndex(
    (byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf,
  );
  return line[at] === 0x7b || line[at] === 0x5b;
}

/** What the headers of a part say; `undefined` where its value is coded. */
function fieldIn(headers: string): Omit<Field, 'value' | 'pending' | 'lines'> | undefined {
  const head = partHead(headers);
  return (
    head && {
      isModel: head.names.some(namesModel),
      isPurpose: head.names.some((name) => /^purpose$/i.test(name.trim())),
      isFile: head.isFile,
    }
  );
}
