"""RecBole's SASRec on the log, the split and the rule for seen items of ours."""
