-- AlterTable
ALTER TABLE "received_documents" ADD COLUMN     "answer_due_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "refusal_budgets" (
    "scope" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "used" BIGINT NOT NULL,

    CONSTRAINT "refusal_budgets_pkey" PRIMARY KEY ("scope","period")
);

-- CreateIndex
CREATE INDEX "refused_documents_conflict_of_id_idx" ON "refused_documents"("conflict_of", "id") WHERE (conflict_of IS NOT NULL AND xml_path IS NOT NULL);

-- What arrivals and decisions about one number hold, and nobody else.
CREATE FUNCTION document_number_lock(env TEXT, buyer_rnc TEXT, issuer_rnc TEXT, encf TEXT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(env || ':' || buyer_rnc || ':' || issuer_rnc || ':' || encf, 0);

-- The decision that came before its document. Decisions about the number wait until the transaction of the arrival ends;
-- one that was under way is waited for and then seen, since a volatile function looks with a snapshot of its own.
CREATE FUNCTION early_decision(of_env TEXT, of_buyer_rnc TEXT, of_issuer_rnc TEXT, of_encf TEXT) RETURNS SETOF early_decisions
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(document_number_lock(of_env, of_buyer_rnc, of_issuer_rnc, of_encf));
  RETURN QUERY SELECT d.* FROM early_decisions d
    WHERE d.env = of_env AND d.buyer_rnc = of_buyer_rnc AND d.issuer_rnc = of_issuer_rnc AND d.encf = of_encf;
END
$$;
