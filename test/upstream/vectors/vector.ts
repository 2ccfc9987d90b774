import type { FaultReason, FaultTokens } from '../../../host/contract/index.ts';

/**
 * What vendors answer, whole. Sources: developers.openai.com "Error codes"; platform.claude.com "Errors"; api-docs.deepseek.com
 * "Error Codes"; openrouter.ai "Errors and Debugging"; ai.google.dev "Troubleshooting"; docs.aws.amazon.com, Bedrock "Troubleshooting API
 * error codes"; answers that callers print on GitHub (named where the shape is rare), 2026-11-26.
 */
export interface FaultVector {
  readonly id: string;
  readonly vendor: string;
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A shipped provider that reads the row with its own `toFault`; the host's reading alone unless said. */
  readonly module?: string;
  readonly reason: FaultReason | undefined;
  readonly tokens?: FaultTokens;
  /** Another request may still be paid for. */
  readonly ofRequest?: boolean;
  /** The message that is found, where it does not stand in the body as it is. */
  readonly message?: string;
  /** What the body alone tells inside an answer, where that is not the same: the status or a header says the rest. */
  readonly inside?: FaultReason | 'none';
}

export const openai = (
  message: string,
  code: string | null,
  type = 'invalid_request_error',
  param: string | null = null,
): object => ({
  error: { message, type, param, code },
});
export const claude = (type: string, message: string, more: object = {}): object => ({
  type: 'error',
  error: { type, message, ...more },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
export const google = (code: number, status: string, message: string, details: readonly object[] = []): object => ({
  error: { code, message, status, ...(details.length > 0 && { details }) },
});
export const errorInfo = (reason: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
});
export const openrouter = (code: number, message: string, metadata?: object): object => ({
  error: { message, code, ...(metadata && { metadata }) },
  user_id: 'user_2aB',
});

export const XAI_LENGTH = "This model's maximum prompt length is 131072 but the request contains 150000 tokens.";
export const XAI_LENGTH_BODY = { code: 'Client specified an invalid argument', error: XAI_LENGTH };
