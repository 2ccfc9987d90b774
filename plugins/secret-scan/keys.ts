/**
 * Forms of credentials inside a run of token characters. Every alternative begins with fixed letters and takes one run of one
 * class; where more has to follow that run, it may not begin inside another one. So the work is in proportion to the token. Sources: the vendors' pages on token formats (AWS IAM identifiers, GitHub
 * token formats, Slack token types, Google API keys, Stripe API keys, OpenAI and Anthropic API keys, npm, GitLab, SendGrid, Groq, Perplexity, xAI, Alibaba Cloud, Shopify,
 * DigitalOcean, PyPI, Vault, Linear, age, Databricks, Docker, Notion, Supabase, Twilio, Mailgun, New Relic, Postman, Replicate, NVIDIA, Fireworks), RFC 7519; read
 * 2026-11-22.
 */
const FORMS: readonly string[] = [
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z\\d]{16}(?![A-Za-z\\d])',
  'gh[pousr]_[A-Za-z\\d]{36,}',
  'github_pat_[A-Za-z\\d_]{22,}',
  'gl(?:pat|rt|ptt|dt|cbt|ft|imt|soat)-[\\w-]{20,}',
  'xox[abeoprs]-[A-Za-z\\d-]{10,}',
  'xapp-\\d-[A-Za-z\\d-]{10,}',
  'hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z\\d/+]{20,}',
  'AIza[\\w-]{35}(?![\\w-])',
  'GOCSPX-[\\w-]{20,}',
  'ya29\\.[\\w.-]{20,}',
  '[sr]k_(?:live|test|prod)_[A-Za-z\\d]{10,}',
  'whsec_[A-Za-z\\d+/=]{20,}',
  'sk-(?:proj|svcacct|admin|ant|or|None)-[\\w-]{16,}',
  'sk-[A-Za-z\\d]{20,}',
  'sk-ws-[A-Za-z\\d][\\w.-]{14,}',
  'pplx-[A-Za-z\\d]{20,}',
  'gsk_[A-Za-z\\d]{20,}',
  'xai-[A-Za-z\\d]{40,}',
  'gws?_[a-f\\d]{32,}',
  'shp(?:at|ca|pa|ss)_[a-fA-F\\d]{32}',
  'do[opr]_v1_[a-f\\d]{64}',
  'pypi-[\\w-]{50,}',
  'hv[bs]\\.[\\w-]{24,}',
  'lin_api_[A-Za-z\\d]{40}',
  'AGE-SECRET-KEY-1[A-Z\\d]{50,}',
  'npm_[A-Za-z\\d]{36}',
  'dapi[a-f\\d]{32}(?:-\\d)?',
  'dckr_[po]at_[\\w-]{20,}',
  'ntn_[A-Za-z\\d]{40,}',
  'sbp_[a-f\\d]{40}',
  'SK[a-f\\d]{32}(?![A-Za-z\\d])',
  'key-[a-f\\d]{32}(?![A-Za-z\\d])',
  'NRAK-[A-Z\\d]{27}',
  'PMAK-[a-f\\d]{24}-[a-f\\d]{34}',
  'r8_[A-Za-z\\d]{37}',
  'nvapi-[\\w-]{60,}',
  'fw_[A-Za-z\\d]{20,}',
  'hf_[A-Za-z]{30,}',
  '(?<![\\w-])SG\\.[\\w-]{16,}\\.[\\w-]{16,}',
  '(?<![\\w-])eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]*',
];

/** Looks from its `lastIndex` on, which its user sets. */
export const KEYS = new RegExp(`(?<![A-Za-z\\d])(?:${FORMS.join('|')})`, 'g');
