/** Forms: what clients send with files in it, and what services get of it. */

/** A part of a form: a text, or a file. */
export type FormPart = FormField | FormFile;

/** A part of a form that is a text. */
export interface FormField {
  /** Name of the part. */
  readonly name: string;
  /** Its text, sent as UTF-8. */
  readonly value: string;
}

/** Leaves with its file name; its content is streamed, once per attempt. */
export interface FormFile {
  /** Name of the part; the file has a name of its own. */
  readonly name: string;
  /** The file as the client sent it. */
  readonly file: UploadedFile;
  /** The media type that it leaves as; `application/octet-stream` unless said. */
  readonly contentType?: string | undefined;
}

/** A file of a form. */
export interface UploadedFile {
  /** The name that the client gave it. */
  readonly filename: string;
  /** Its content. */
  readonly bytes: number;
  /** The media type that the client gave it, where it gave one. */
  readonly contentType?: string | undefined;
  /** Length of a recording, where its header says it. */
  readonly seconds?: number | undefined;
  /** Opens the content from its start, once per attempt. */
  open(): AsyncIterable<Uint8Array>;
}
