import type { ExecuteContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import type { TagId } from '../../lib/ids.ts';
import type { Tag } from './model.ts';
import { TagStore } from './store/tags.ts';

/** A tag of either type, while the organization has room for one. */
export async function addTag(
  { store, actor, newId, nowMs, config }: ExecuteContext,
  type: Tag['type'],
  name: string,
): Promise<TagId> {
  const { organizationId } = actor;
  if (config.limitTags !== undefined && (await store(TagStore).count(organizationId)) >= config.limitTags) {
    throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `an organization can have at most ${config.limitTags} tags`);
  }
  const id: TagId = newId();
  await store(TagStore).insert(organizationId, { id, type, name, createdAtMs: nowMs, updatedAtMs: nowMs });
  return id;
}
