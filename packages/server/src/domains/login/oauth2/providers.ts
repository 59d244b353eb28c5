/** Where a provider's two calls go; settings, because tests and proxies put them elsewhere. */
export interface OAuth2Endpoints {
  readonly tokenUrl: string;
  readonly userUrl: string;
}

interface Provider {
  readonly label: string;
  /** Before the user's id in a subject. */
  readonly prefix: string;
  readonly readUserId: (answer: Readonly<Record<string, unknown>>) => unknown;
}

export type OAuth2Provider = 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';

export const DEFAULT_ENDPOINTS: Readonly<Record<OAuth2Provider, OAuth2Endpoints>> = {
  OAUTH2_PROVIDER_X: { tokenUrl: 'https://api.x.com/2/oauth2/token', userUrl: 'https://api.x.com/2/users/me' },
  OAUTH2_PROVIDER_DISCORD: {
    tokenUrl: 'https://discord.com/api/oauth2/token',
    userUrl: 'https://discord.com/api/users/@me',
  },
};

/** What differs between the providers beside their addresses (protocol/login 8.2). */
export const PROVIDERS: Readonly<Record<OAuth2Provider, Provider>> = {
  OAUTH2_PROVIDER_X: {
    label: 'X',
    prefix: 'x',
    // Some plans of the provider get an answer without data.
    readUserId: ({ data }) => (typeof data === 'object' && data !== null && 'id' in data ? data.id : undefined),
  },
  OAUTH2_PROVIDER_DISCORD: { label: 'Discord', prefix: 'discord', readUserId: ({ id }) => id },
};
