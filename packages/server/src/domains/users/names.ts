import type { NameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    user: { readonly name: string };
    /** Of users and of private keys. */
    tag: { readonly name: string };
    apiKey: { readonly name: string };
    authenticator: { readonly name: string };
    oauthProvider: { readonly name: string };
    mfaPolicy: { readonly name: string };
  }
}

const toName = (row: Readonly<Record<string, unknown>>): { readonly name: string } => ({ name: row['name'] as string });

export const names: readonly NameSource[] = [
  tableSource('user', 'app_user', ['name'], toName),
  tableSource('tag', 'tag', ['name'], toName),
  tableSource('apiKey', 'api_key', ['name'], toName),
  tableSource('authenticator', 'authenticator', ['name'], toName),
  tableSource('oauthProvider', 'oauth_provider', ['name'], toName),
  tableSource('mfaPolicy', 'mfa_policy', ['name'], toName),
];
