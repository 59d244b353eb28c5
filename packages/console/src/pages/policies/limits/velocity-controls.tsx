import type { ListVelocityUsageResponse } from '@custos/sdk';
import { useState } from 'react';
import { useApi } from '../../../api/use-api.ts';
import { useOffReason } from '../../../app/off-reason.ts';
import { Asked } from '../../../kit/asked.tsx';
import { Button, IconButton } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { LimitBar } from '../../../kit/limit-bar.tsx';
import { withThousands } from '../../../lib/amounts.ts';
import styles from '../policies.module.css';
import { RemoveDialog } from './remove-dialog.tsx';
import { VelocityDialog } from './velocity-dialog.tsx';

type Usage = ListVelocityUsageResponse['usage'][number];

/** How much of each limit is used now. */
const EVERY_MS = 30_000;
const GROUPS_SHOWN = 5;

/** Limits on what happens within a time, with how much of each is used. */
export function VelocityControls() {
  const query = useApi('listVelocityUsage', {}, { everyMs: EVERY_MS });
  const [isCreating, setIsCreating] = useState(false);
  const [removed, setRemoved] = useState<Usage>();
  const off = useOffReason();
  const create = (
    <Button icon="plus" off={off} hideReason onClick={() => setIsCreating(true)}>
      New velocity control
    </Button>
  );
  return (
    <Card
      title="Velocity controls"
      detail="on top of policies; only the root quorum exceeds them"
      flush
      actions={create}
    >
      <Asked query={query} rows={3} label="Loading the limits">
        {({ usage }) =>
          usage.length === 0 ? (
            <div className={styles.bars}>
              <Empty
                title="No limits yet"
                icon="bars"
                call={`await client.createVelocityControl({\n  name: 'One ether a day from each wallet',\n  identifier: 'eth-per-wallet-and-day',\n  dataSource: { chainAssetTransfer: { definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }] } },\n  aggregation: {\n    method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',\n    operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',\n    threshold: '1',\n    window: { rolling: { duration: '24h' } },\n    groupBy: { wallet: {} },\n  },\n})`}
              >
                How much of an asset may leave within a day, or how often something may happen: limits will be listed
                here with how much of each is used.
              </Empty>
            </div>
          ) : (
            <ul className={styles.bars}>
              {usage.map((one) => (
                <li key={one.velocityControlId} className={styles.control}>
                  <div>
                    <LimitBar
                      label={
                        <b>
                          <bdi>{one.name}</bdi>
                        </b>
                      }
                      text={one.text}
                      used={Number(one.threshold) === 0 ? 1 : Number(one.aggregate) / Number(one.threshold)}
                    />
                    {one.groups !== undefined && one.groups.length > 0 && (
                      <ul className={styles.groups}>
                        {one.groups.slice(0, GROUPS_SHOWN).map(({ key, name, aggregate }) => (
                          <li key={key}>
                            <bdi>{name ?? key}</bdi> {withThousands(aggregate)}
                          </li>
                        ))}
                        {(one.groups.length > GROUPS_SHOWN || one.groupsAreCut) && <li>and others</li>}
                      </ul>
                    )}
                  </div>
                  <IconButton icon="trash" label={`Delete ${one.name}`} onClick={() => setRemoved(one)} />
                </li>
              ))}
            </ul>
          )
        }
      </Asked>
      {isCreating && <VelocityDialog onClose={() => setIsCreating(false)} />}
      {removed && (
        <RemoveDialog
          method="deleteVelocityControl"
          parameters={{ velocityControlId: removed.velocityControlId }}
          title={
            <>
              Delete <bdi>{removed.name}</bdi>
            </>
          }
          consequence="Nothing limits it any more: what policies allow then passes in any amount, as often as it is asked for."
          act="Delete velocity control"
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Card>
  );
}
