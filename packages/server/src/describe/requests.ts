import type { Activity, Organization } from '../core/model.ts';
import type { Description } from './description.ts';

/** A request to be put into words: one that is stored, or one that nobody has sent yet. */
export type DescribedRequest =
  | { readonly activity: Activity }
  | { readonly request: { readonly type: string; readonly parameters: unknown } };

/** All of them are about the one organization that is given. */
export type DescribeRequests = (
  organization: Organization,
  requests: readonly DescribedRequest[],
  options?: {
    /** For lists: without the bytes that are signed. */
    readonly isBrief?: boolean;
  },
) => Promise<Description[]>;
