/** An address as it may stand in a log: without userinfo, query, fragment and line breaks. */
export function shownAddress(address: string): string {
  const url = URL.parse(address);
  return url && isHttp(address) ? `${url.protocol}//${url.host}${url.pathname}` : '<invalid address>';
}

/** A text, such as the message of an error, with every address in it as it is shown. */
export function withShownAddresses(text: string): string {
  return text.replace(/https?:\/\/[^\s"'<>]+/gi, shownAddress).replace(/[\r\n]+/g, ' ');
}

/** An absolute address of http or https that names a host. */
export function isHttp(address: string): boolean {
  return /^https?:\/\/[^/?#\\]/i.test(address) && URL.canParse(address);
}
