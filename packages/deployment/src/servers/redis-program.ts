import { debianProgram, type Program } from './debian-program.js';

const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'];

/** The command of redis-server; null if it can be neither found nor fetched. */
export const redisProgram = (): Promise<Program | null> => debianProgram('redis-server', 'redis-debian', PACKAGES);
