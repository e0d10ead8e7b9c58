/** Settings of the embedded server. */
export const EMBEDDED_SETTINGS = {
  max_connections: '120',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  // A table that fills fast gets its statistics soon; without them its statements run with the plans of an empty table. Each look
  // starts a process for each database, so more often would cost an idle deployment half a percent of a core.
  autovacuum_naptime: '20s',
  // And anew when half of it has changed. After each tenth, a batch of 10,000 documents costs a fifth more in PostgreSQL.
  autovacuum_analyze_scale_factor: '0.5',
  // The socket dies with the process; a session must not outlive it by hours.
  tcp_keepalives_idle: '30',
};
