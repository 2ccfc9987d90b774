/** What a terminal obeys, or what turns the order of a text around. Line ends and tabs are none of it. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const LAYOUT = /[\t\n]/g;

const code = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text of others for a terminal: control characters are shown as codes. */
export const visibleText = (text: string): string => text.replace(CONTROLS, code);

/** A text with every control character visible, in one line. */
export const visibleLine = (text: string): string => visibleText(text).replace(LAYOUT, code);
