import { sql } from 'kysely';
import { type NameSource, nameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';
import { chunks } from '../../lib/collections.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { Reader } from '../../storage/store.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    tvcApp: { readonly name: string };
    tvcOperator: { readonly name: string };
    /** By its own id or that of its manifest: called by its app. */
    tvcDeployment: { readonly name: string };
  }
}

interface Row {
  readonly d_id: string;
  readonly manifest_id: string;
  readonly name: string;
}

class DeploymentNames extends Reader {
  async ofIds(organizationId: OrganizationId, ids: readonly string[]): Promise<Row[]> {
    const found: Row[] = [];
    for (const some of chunks(ids, 500)) {
      const list = sql.join(some);
      const { rows } = await sql<Row>`SELECT /* partial tvc_deployment: manifests, which may be large */ d.id AS d_id,
          d.manifest_id, a.* FROM tvc_deployment d
        JOIN tvc_app a ON a.organization_id = d.organization_id AND a.id = d.app_id
        WHERE d.organization_id = ${organizationId} AND (d.id IN (${list}) OR d.manifest_id IN (${list}))`.execute(
        this.db,
      );
      found.push(...rows);
    }
    return found;
  }
}

export const names: readonly NameSource[] = [
  tableSource('tvcApp', 'tvc_app', 'all', (row) => ({ name: row['name'] as string })),
  tableSource('tvcOperator', 'tvc_operator', 'all', (row) => ({ name: row['name'] as string })),
  nameSource('tvcDeployment', async ({ read, organizationId }, ids) => {
    const rows = await read(DeploymentNames).ofIds(organizationId, ids);
    return new Map(
      rows.flatMap(({ d_id, manifest_id, name }) => [d_id, manifest_id].map((key) => [key, { name }] as const)),
    );
  }),
];
