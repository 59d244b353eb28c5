import type { Oauth2Provider } from '../model.ts';

/** What an OAuth 2.0 provider is asked to turn into an access token. */
export interface CodeExchange {
  readonly provider: Oauth2Provider;
  readonly clientId: string;
  /** The caller wipes it. */
  readonly clientSecret: Uint8Array;
  readonly authCode: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

export interface Exchanged {
  readonly accessToken: string;
  /** Who the user is to us: the provider's name and its id of the user. */
  readonly subject: string;
}

/** The providers' endpoints as the operator set them. */
export type Oauth2Exchange = (exchange: CodeExchange) => Promise<Exchanged>;

declare module '../../../engine/services.ts' {
  interface PrepareServices {
    readonly oauth2: Oauth2Exchange;
  }
}
