/** Prices of a model that are more than a number: fees by size, images by size and quality, units. See docs/catalog.md#entries. */
import type { ImagePrice, SearchUnit, SizedFee, SpecialPrices } from '../../host/common/prices/catalog-pricing.ts';
import { type Fields, isFields, isText, setMember } from '../../host/contract/index.ts';
import { isPrice } from './price.ts';

const SIZES: ReadonlySet<string> = new Set(['low', 'medium', 'high']);
const UNITS: ReadonlySet<unknown> = new Set<SearchUnit>(['call', 'query', 'prompt']);
/** More rows than any vendor has sizes and qualities. */
const MOST_ROWS = 256;
const MOST_SECONDS = 3600;

type Reader = (value: unknown) => boolean;

const READERS: { readonly [name in keyof SpecialPrices]-?: Reader } = {
  request: (value) => isPrice(value) || isSizedFee(value),
  web_search_unit: (value) => UNITS.has(value),
  images: (value) => Array.isArray(value) && value.length > 0 && value.length <= MOST_ROWS && value.every(isImagePrice),
  image_tool_model: (value) => isText(value) && value.length <= 128,
  video_output_per_second: isPrice,
  audio_minimum_seconds: (value) => typeof value === 'number' && value > 0 && value <= MOST_SECONDS,
};

export const isSpecial = (name: string): name is keyof SpecialPrices => Object.hasOwn(READERS, name);

/** Takes over what is written of these prices. `null` takes one away, and so does what cannot be read, which is noted. */
export function putSpecial(
  pricing: { -readonly [name in keyof SpecialPrices]?: SpecialPrices[name] },
  raw: Readonly<Fields>,
  ignore: (name: string) => void,
): void {
  for (const name of Object.keys(READERS) as (keyof SpecialPrices)[]) {
    const value = raw[name];
    if (value === undefined) continue;
    if (READERS[name](value)) setMember<unknown>(pricing, name, value);
    else delete pricing[name];
    if (value !== null && !READERS[name](value)) ignore(name);
  }
}

function isSizedFee(value: unknown): value is SizedFee {
  if (!isFields(value)) return false;
  const { default: usual, ...fees } = value;
  const sizes = Object.keys(fees);
  return (
    sizes.length > 0 &&
    sizes.every((size) => SIZES.has(size) && isPrice(fees[size])) &&
    (usual === undefined || (isText(usual) && Object.hasOwn(fees, usual)))
  );
}

function isImagePrice(value: unknown): value is ImagePrice {
  return isFields(value) && isPrice(value['usd']) && isWord(value['size']) && isWord(value['quality']);
}

const isWord = (value: unknown): boolean => value === undefined || (isText(value) && value.length <= 64);
