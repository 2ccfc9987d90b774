import type { Fields } from '../fields.ts';

/** What differs between the two places that speak the Messages wire. */
export interface MessagesVariant {
  /** Names the place in errors. */
  readonly label: string;
  /** Members that every body carries. */
  readonly fixed: Fields;
  /** Whether the body names the model, the caller and the service tier, and says that it streams; else the path does, or nobody. */
  readonly isDirect: boolean;
  /** Whether media may be addresses and data of any encoding; else only base64 data addresses. */
  readonly fetchesMedia: boolean;
  /** Whether tool arguments that are no JSON object become `{}`; else they are refused. */
  readonly repairsArguments: boolean;
}

/** The vendor's own API. Source: providers reference 5.1. */
export const DIRECT: MessagesVariant = { label: 'anthropic', fixed: {}, isDirect: true, fetchesMedia: true, repairsArguments: false };

/** Claude behind Bedrock's invoke: the model stands in the path. Source: providers reference 5.1. */
export const BEDROCK: MessagesVariant = {
  label: 'bedrock', fixed: { anthropic_version: 'bedrock-2023-05-31' }, isDirect: false, fetchesMedia: false, repairsArguments: true,
};
