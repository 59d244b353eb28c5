import type { OrganizationId } from '../lib/ids.ts';

/** Where new credentials go: an organization, and the tree that must be able to find them. */
export interface Place {
  readonly organizationId: OrganizationId;
  readonly rootId: OrganizationId;
}
