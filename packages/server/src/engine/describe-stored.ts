import { ActivityReader } from '../core/store/activity-reader.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import type { Description } from '../describe/description.ts';
import type { ActivityId, OrganizationId } from '../lib/ids.ts';
import { describeRequests } from './describe-requests.ts';

/** Activities of an organization in words, without the bytes that are signed. Those that are erased are left out. */
export async function describeStored(
  app: Parameters<typeof describeRequests>[0],
  organizationId: OrganizationId,
  ids: readonly ActivityId[],
): Promise<ReadonlyMap<ActivityId, Description>> {
  const [organization, activities] = await Promise.all([
    app.storage.read(OrganizationReader).find(organizationId),
    app.storage.read(ActivityReader).ofIds(organizationId, ids),
  ]);
  if (organization === undefined || activities.length === 0) return new Map();
  const requests = activities.map((activity) => ({ activity }));
  const descriptions = await describeRequests(app, organization, requests, { isBrief: true });
  return new Map(descriptions.map((description) => [description.activityId as ActivityId, description]));
}
