-- CreateIndex
CREATE INDEX "refused_documents_unkept_idx" ON "refused_documents"("conflict_of", "id" DESC) WHERE (conflict_of IS NOT NULL AND xml_path IS NULL);
