export { type BackupMade, makeBackup } from './backup.js';
export { BackupError } from './backup-error.js';
export { recordRestores } from './record-restore.js';
export { restoreBackup } from './restore.js';
export { type BackupFault, type Verified, verifyBackup } from './verify.js';
