import { PRODUCT } from './page.tsx';

/** The product's mark and name. */
export function Brand() {
  return (
    <span className="brand">
      <svg className="brand-mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M6.500 11h9a5 5 0 0 1 5 5a5 5 0 0 0 5 5M6.500 21h9a5 5 0 0 0 5-5a5 5 0 0 1 5-5" />
      </svg>
      <span className="brand-name">{PRODUCT}</span>
    </span>
  );
}
