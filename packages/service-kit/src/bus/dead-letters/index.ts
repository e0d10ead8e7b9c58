export { type FileDeadLetters, openFileDeadLetters } from './dead-letters.files.js';
export {
  createMemoryDeadLetters,
  type DeadLetter,
  type DeadLetters,
  type ReplayableDeadLetters,
} from './dead-letters.js';
