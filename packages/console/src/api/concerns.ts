import type { FeedEvent } from '@custos/sdk';

/** Which queries news may have changed, by the names of the client's methods. */
export type Concern = 'everything' | readonly RegExp[];

/** How far requests are; every event about one changes that. */
const REQUESTS = /^(?:listApprovals|getApproval|listActivities|getActivity|getPolicyEvaluations|getMfaStatus)$/;
const SENDS = /send|balance|nonce|transaction|gas|earn|velocity/i;
/** Sentences name wallets, people, policies and how often somebody was paid: whatever is done may change them. */
const DESCRIPTIONS = /^describeActivity$/;
const DELIVERIES = /webhook(?:Deliver|Statistic)/i;

/** What a completed activity changes, by the words in its type. Several may apply. */
const CHANGES: readonly (readonly [type: RegExp, methods: RegExp])[] = [
  [/WALLET|PRIVATE_KEY|IMPORT_|EXPORT_|SECRET/, /wallet|privateKey|account|secret/i],
  [/POLIC|VELOCITY|IP_ALLOWLIST|SESSION_PROFILE/, /polic|velocity|allowlist|sessionProfile|simulate/i],
  [
    /USER|TAG|API_KEY|AUTHENTICATOR|OAUTH|INVITATION|QUORUM|SESSION|LOGIN|OTP|EMAIL_AUTH/,
    /user|credential|apiKey|authenticator|oauth|invitation|organization|tag|whoami|simulate/i,
  ],
  [/_SIGN_|_SEND_|EARN/, SENDS],
  [/WEBHOOK/, /webhook/i],
  [/ORGANIZATION|AUTH_PROXY|GAS_USAGE/, /organization|suborg|whoami|config|proxy|gas/i],
  [/SMART_CONTRACT/, /smartContract|asset/i],
];

/** What an event makes stale. An event of a kind that this page does not know makes everything stale. */
export function concernOf(event: FeedEvent): Concern {
  switch (event.kind) {
    case 'ACTIVITY': {
      if (event.status !== 'ACTIVITY_STATUS_COMPLETED') return [REQUESTS];
      const changed = CHANGES.filter(([type]) => type.test(event.type)).map(([, methods]) => methods);
      return changed.length === 0 ? 'everything' : [REQUESTS, DESCRIPTIONS, ...changed];
    }
    case 'SEND':
      return [SENDS];
    case 'WEBHOOK_DELIVERY':
      return [DELIVERIES];
    default:
      return 'everything';
  }
}

export const isConcerned = (concern: Concern, method: string): boolean =>
  concern === 'everything' || concern.some((methods) => methods.test(method));

export const together = (one: Concern, other: Concern): Concern =>
  one === 'everything' || other === 'everything' ? 'everything' : [...new Set([...one, ...other])];
