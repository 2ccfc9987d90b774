import type { Credentials } from 'gw/contract';
import { wholeSegment, withoutTail } from 'gw/common-wire';

/** What stands behind a location: the endpoint of the common format. */
const COMPATIBLE = '/endpoints/openapi';

/**
 * The default root of a project and region. Throws when the region is missing, or when one of them cannot stand in an
 * address. Source: docs.cloud.google.com, Agent Platform, "Locations": regional, multi-region and global endpoints, 2026-11-21.
 */
export function defaultRoot({
  VERTEX_AI_PROJECT_ID: project = '',
  VERTEX_AI_REGION: region = '',
}: Credentials): string {
  const [id, place] = [project.trim(), region.trim()];
  if (place === '') throw new Error('VERTEX_AI_REGION must be set beside VERTEX_AI_PROJECT_ID');
  if (!/^[a-z][\w-]*$/i.test(place)) throw new Error('VERTEX_AI_REGION is not a region');
  if (!/^[\w-][\w.:-]*$/.test(id)) throw new Error('VERTEX_AI_PROJECT_ID is not a project id');
  return `https://${hostOf(place)}/v1/projects/${id}/locations/${place}${COMPATIBLE}`;
}

function hostOf(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com';
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}

/** A bare host replaces only scheme and host, an address of a location gets the endpoint, any other path is the root. */
export function rootOf(address: string, otherwise: string): string {
  const path = address.replace(/^[a-z]+:\/\/[^/]*/i, '');
  if (path === '') return address + new URL(otherwise).pathname;
  return /\/locations\/[^/]+$/.test(path) ? address + COMPATIBLE : address;
}

/** `{location}/publishers/google/models/{m}:predict` beside the compatible endpoint. */
export function predictPath(root: string, model: string): string {
  return `${withoutTail(root, COMPATIBLE)}/publishers/google/models/${wholeSegment(model)}:predict`;
}

/** `{location}/publishers/anthropic/models/{m}:rawPredict` beside the compatible endpoint. Source: platform.claude.com, "Claude on Vertex AI", 2026-11-22. */
export function claudePath(root: string, model: string, isStreamed: boolean): string {
  const name = wholeSegment(model).replace('%40', '@');
  return `${withoutTail(root, COMPATIBLE)}/publishers/anthropic/models/${name}:${isStreamed ? 'streamRawPredict' : 'rawPredict'}`;
}
