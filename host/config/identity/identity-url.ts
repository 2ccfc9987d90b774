/** By the text alone: what a name stands for is not looked up. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);

/** Whether an address may be that of an issuer, or of something of it: https, or http on loopback, without user, query and fragment. */
export function isIssuerUrl(text: string): boolean {
  if (/[\s?#\\]/.test(text)) return false; // also an empty query or fragment, which URL drops
  const url = URL.parse(text);
  if (!url || url.username !== '' || url.password !== '' || text.includes('@')) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}
