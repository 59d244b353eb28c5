import { Dialog } from '../kit/dialog.tsx';
import { Checkbox } from '../kit/field.tsx';
import { Kbd } from '../kit/kbd.tsx';
import { KEYS } from '../lib/shortcuts.ts';
import { setSingleKeys, useSingleKeys } from './keys.ts';
import styles from './keys-dialog.module.css';

export default function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const isOn = useSingleKeys();
  return (
    <Dialog open onClose={onClose} title="Keys" width="small">
      <dl className={styles.keys}>
        {KEYS.map(({ keys, text }) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label="Single letters work"
        help="Switch them off if speech input or a slip of the hand triggers them."
        checked={isOn}
        onChange={setSingleKeys}
      />
    </Dialog>
  );
}
